// A second exported name for a function of the same file. What leaves libmallow.so is marked MALLOW_EXPORT or
// MALLOW_ALIAS and named in libmallow.map.
#pragma once

#include "base/config.h"

#define MALLOW_ALIAS(function) __attribute__((visibility("default"), copy(function), alias(#function)))
