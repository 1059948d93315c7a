// Both the stock mlir-opt with our library as plugin and our own tool know the pass.
// RUN: mlir-opt --load-dialect-plugin=%lodestone_plugin --load-pass-plugin=%lodestone_plugin --pass-pipeline='builtin.module(lds-attach-alias-scopes)' %s | FileCheck %s
// RUN: lodestone-opt --lds-attach-alias-scopes %s | FileCheck %s
// CHECK: module
module {}
