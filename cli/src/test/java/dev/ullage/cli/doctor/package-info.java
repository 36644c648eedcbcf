@NullMarked
package dev.ullage.cli.doctor;

import org.jspecify.annotations.NullMarked;
