package dev.ullage.worker.probe;

import com.sun.jna.FunctionMapper;
import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/**
 * A C function that takes up to three addresses, called without what JNA's proxies spend on each call: they cost many
 * times what a call does, and some functions are called for each device at each reading. Threads: any.
 */
interface DirectFunction {
    /**
     * @param device what NVML knows it by
     * @param first an address, or a number that is passed like one
     * @param second another; a function of two arguments does not look at it
     * @return the function's own code
     */
    int call(long device, long first, long second);

    /** JNA binds the native methods of a class once, so this one is a pattern: each function has a copy of it. */
    final class Pattern implements DirectFunction {
        @Override
        public native int call(long device, long first, long second);
    }

    /**
     * @param options as the library was loaded with
     * @throws UnsatisfiedLinkError the library does not have the function
     */
    static DirectFunction of(String library, Map<String, ?> options, String symbol) {
        Map<String, Object> named = new HashMap<>(options);
        named.put(Library.OPTION_FUNCTION_MAPPER, (FunctionMapper) (loaded, method) -> symbol);
        try (InputStream pattern = Pattern.class.getResourceAsStream("DirectFunction$Pattern.class")) {
            Class<?> copy = MethodHandles.lookup()
                    .defineHiddenClass(Objects.requireNonNull(pattern).readAllBytes(), true)
                    .lookupClass();
            Native.register(copy, NativeLibrary.getInstance(library, named));
            return (DirectFunction) copy.getDeclaredConstructor().newInstance();
        } catch (IOException | ReflectiveOperationException e) {
            throw new IllegalStateException("the class file of " + Pattern.class + " cannot be used", e);
        }
    }
}
