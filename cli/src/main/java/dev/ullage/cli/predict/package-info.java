/** {@code ullage predict}: how good predictors of a rank's use would have been on recorded series. */
@NullMarked
package dev.ullage.cli.predict;

import org.jspecify.annotations.NullMarked;
