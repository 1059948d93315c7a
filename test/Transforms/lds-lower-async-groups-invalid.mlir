// RUN: lodestone-opt %s --lds-lower-async-groups --split-input-file --verify-diagnostics --allow-unregistered-dialect

// What is in flight when a device function starts is up to its callers.
gpu.module @m {
  gpu.func @helper() {
    // expected-error @+1 {{'lds.wait_group' op is in function 'helper', which is not a kernel, so that the groups before it aren't known; inline or outline it first}}
    lds.wait_group 0
    gpu.return
  }
}

// -----

// Copies in a function that the kernel calls would be missed.
gpu.module @m {
  func.func @helper(%g: !llvm.ptr<1>, %l: !llvm.ptr<3>) {
    // expected-note @+1 {{'rocdl.global.load.lds' is here}}
    rocdl.global.load.lds %g, %l, 4, 0, 0
    return
  }
  gpu.func @k(%g: !llvm.ptr<1>, %l: !llvm.ptr<3>) kernel {
    // expected-error @+1 {{calls a function with copies or groups in it, which can't be followed; inline it first}}
    func.call @helper(%g, %l) : (!llvm.ptr<1>, !llvm.ptr<3>) -> ()
    lds.commit_group
    lds.wait_group 0
    gpu.return
  }
}

// -----

// A call through a pointer may call anything.
gpu.module @m {
  gpu.func @k(%f: !llvm.ptr) kernel {
    // expected-error @+1 {{calls a function that isn't known, in which groups of copies can't be followed}}
    llvm.call %f() : !llvm.ptr, () -> ()
    lds.commit_group
    gpu.return
  }
}

// -----

// A wait below an op whose region runs nobody knows when.
gpu.module @m {
  gpu.func @k() kernel {
    // expected-note @+1 {{the op around it is here}}
    "test.region"() ({
      // expected-error @+1 {{is below 'test.region', through which control flow can't be followed, so that groups can't be counted}}
      lds.wait_group 0
      "test.end"() : () -> ()
    }) : () -> ()
    gpu.return
  }
}

// -----

// A branch that isn't known to be one.
gpu.module @m {
  gpu.func @k() kernel {
    lds.commit_group
    // expected-error @+1 {{branches in a way that can't be followed, so that groups of copies can't be counted}}
    "test.br"()[^bb1] : () -> ()
  ^bb1:
    gpu.return
  }
}

// -----

// In a launch that isn't outlined yet.
func.func @host(%n: index) {
  gpu.launch blocks(%a, %b, %c) in (%d = %n, %e = %n, %f = %n) threads(%g, %h, %i) in (%j = %n, %k = %n, %l = %n) {
    // expected-error @+1 {{is in a gpu.launch, which is not a kernel}}
    lds.commit_group
    gpu.terminator
  }
  return
}
