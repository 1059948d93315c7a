//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Sequences that Python sees: operands, results, blocks, ...
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_PYTHON_SEQUENCE_H
#define LODESTONE_PYTHON_SEQUENCE_H

#include "IR.h"

namespace lodestone::python {

/// The position that a Python index means; raises IndexError.
inline size_t position(int64_t index, size_t size) {
  int64_t wrapped = index < 0 ? index + static_cast<int64_t>(size) : index;
  if (wrapped < 0 || wrapped >= static_cast<int64_t>(size))
    throw nb::index_error("index out of range");
  return wrapped;
}

/// Binds `T`, which has `size()` and `at(i)`, as a read-only sequence of
/// `Element` (the class that names the elements in signatures). A slice is a
/// list.
template <typename T, typename Element>
nb::class_<T> bindSequence(nb::module_ &m, const char *name) {
  using Item = nb::typed<nb::object, Element>;
  nb::class_<T> cls(m, name);
  auto list = [](const T &self) {
    nb::typed<nb::list, Element> result;
    for (size_t i = 0, size = self.size(); i < size; ++i)
      result.append(self.at(i));
    return result;
  };
  cls.def("__len__", &T::size)
      .def("__getitem__",
           [](const T &self, int64_t index) {
             return Item(nb::cast(self.at(position(index, self.size()))));
           })
      .def("__getitem__",
           [](const T &self, nb::slice slice) {
             auto [start, stop, step, length] = slice.compute(self.size());
             nb::typed<nb::list, Element> result;
             for (size_t i = 0; i < length; ++i, start += step)
               result.append(self.at(start));
             return result;
           })
      .def("__iter__", [list](const T &self) {
        return nb::typed<nb::iterator, Element>(nb::iter(list(self)));
      });
  return cls;
}

} // namespace lodestone::python

#endif // LODESTONE_PYTHON_SEQUENCE_H
