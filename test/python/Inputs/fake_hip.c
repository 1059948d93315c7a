// A stand-in for libamdhip64: device memory is host memory, each call is written to
// $FAKE_HIP_LOG, and the copy kernel of the simulator's tests runs on the host.
// $FAKE_HIP_FAIL=function:status makes a call fail; $FAKE_HIP_DEVICES is their number.

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int report(const char *Function, const char *Format, ...) {
  FILE *Log = fopen(getenv("FAKE_HIP_LOG"), "a");
  va_list Arguments;
  va_start(Arguments, Format);
  fprintf(Log, "%s", Function);
  vfprintf(Log, Format, Arguments);
  fprintf(Log, "\n");
  va_end(Arguments);
  fclose(Log);
  const char *Fail = getenv("FAKE_HIP_FAIL");
  size_t Length = strlen(Function);
  if (Fail && !strncmp(Fail, Function, Length) && Fail[Length] == ':')
    return atoi(Fail + Length + 1);
  return 0;
}

const char *hipGetErrorString(int Status) {
  return Status == 2 ? "out of memory" : "some error";
}
int hipInit(unsigned Flags) { return report("hipInit", " %u", Flags); }
int hipGetDeviceCount(int *Count) {
  const char *Devices = getenv("FAKE_HIP_DEVICES");
  *Count = Devices ? atoi(Devices) : 1;
  return report("hipGetDeviceCount", "");
}
int hipSetDevice(int Device) { return report("hipSetDevice", " %d", Device); }
int hipDeviceGetName(char *Name, int Length, int Device) {
  snprintf(Name, Length, "Fake GPU %d", Device);
  return report("hipDeviceGetName", "");
}
int hipModuleLoadData(void **Module, const void *Image) {
  *Module = (void *)0x1000;
  return report("hipModuleLoadData", " %.3s", (const char *)Image + 1);
}
int hipModuleGetFunction(void **Function, void *Module, const char *Name) {
  *Function = (void *)0x2000;
  return report("hipModuleGetFunction", " %p %s", Module, Name);
}
int hipModuleUnload(void *Module) {
  return report("hipModuleUnload", " %p", Module);
}
int hipMalloc(void **Pointer, size_t Size) {
  *Pointer = malloc(Size);
  return report("hipMalloc", " %zu", Size);
}
int hipFree(void *Pointer) {
  free(Pointer);
  return report("hipFree", "");
}
int hipMemcpy(void *To, const void *From, size_t Size, int Kind) {
  memcpy(To, From, Size);
  return report("hipMemcpy", " %zu %d", Size, Kind);
}
int hipDeviceSynchronize(void) { return report("hipDeviceSynchronize", ""); }
int hipModuleLaunchKernel(void *Function, unsigned GridX, unsigned GridY,
                          unsigned GridZ, unsigned BlockX, unsigned BlockY,
                          unsigned BlockZ, unsigned Shared, void *Stream,
                          void **Arguments, void **Extra) {
  void *Source = *(void **)Arguments[0], *Target = *(void **)Arguments[1];
  uint32_t Tiles = *(uint32_t *)Arguments[2];
  int Status =
      report("hipModuleLaunchKernel",
             " %p grid %u %u %u block %u %u %u lds %u stream %d extra %d "
             "tiles %u",
             Function, GridX, GridY, GridZ, BlockX, BlockY, BlockZ, Shared,
             Stream != NULL, Extra != NULL, Tiles);
  if (!Status)
    memcpy(Target, Source, Tiles * 4096);
  return Status;
}
