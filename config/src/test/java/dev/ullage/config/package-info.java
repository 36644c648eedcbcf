@NullMarked
package dev.ullage.config;

import org.jspecify.annotations.NullMarked;
