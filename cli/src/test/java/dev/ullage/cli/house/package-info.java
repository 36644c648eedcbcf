/** The rules of the house: what code of every module must look like, and may depend on. */
@NullMarked
package dev.ullage.cli.house;

import org.jspecify.annotations.NullMarked;
