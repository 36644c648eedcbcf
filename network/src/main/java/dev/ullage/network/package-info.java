/** A small LSTM as a predictor, run by ONNX Runtime; a jar of its own beside the distribution. */
@NullMarked
package dev.ullage.network;

import org.jspecify.annotations.NullMarked;
