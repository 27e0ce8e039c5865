// What networks are made of, beyond products and element-wise functions.
#pragma once
#include "convolution.hpp"
#include "dropout.hpp"
#include "embedding.hpp"
#include "losses.hpp"
#include "normalization.hpp"
#include "pooling.hpp"
