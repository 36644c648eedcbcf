package dev.ullage.cli.run;

import com.sun.jna.Library;
import com.sun.jna.Native;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.function.IntConsumer;

/**
 * Takes the signals of this process, and sends some to another. What Java offers for it, {@code sun.misc.Signal}, is of
 * no supported package: it is looked up by name, as the compiler warns of it otherwise.
 */
final class PosixSignals {
    static final int INTERRUPT = 2;
    static final int TERMINATE = 15;
    private static final int HANG_UP = 1;

    /** Names and numbers on Linux; the same on every architecture that CUDA runs on. */
    private static final List<String> NAMES = List.of("HUP", "INT", "USR1", "USR2", "TERM");

    private static final LibC LIB_C = Native.load("c", LibC.class);

    /** The C library's functions of these names. */
    interface LibC extends Library {
        int kill(int pid, int signal);

        int getpgrp();

        int tcgetpgrp(int descriptor);
    }

    private PosixSignals() {}

    /**
     * From now on SIGHUP, SIGINT, SIGUSR1, SIGUSR2 and SIGTERM do nothing to this process but call {@code handler} with
     * their number, each on a thread of its own.
     */
    static void handle(IntConsumer handler) {
        try {
            Class<?> signalClass = Class.forName("sun.misc.Signal");
            Class<?> handlerClass = Class.forName("sun.misc.SignalHandler");
            Method number = signalClass.getMethod("getNumber");
            InvocationHandler invoked = (proxy, method, arguments) -> switch (method.getName()) {
                case "handle" -> {
                    handler.accept((Integer) number.invoke(arguments[0]));
                    yield null;
                }
                case "equals" -> proxy == arguments[0];
                case "hashCode" -> System.identityHashCode(proxy);
                default -> "signals to " + handler;
            };
            Object proxy =
                    Proxy.newProxyInstance(handlerClass.getClassLoader(), new Class<?>[] {handlerClass}, invoked);
            Method handle = signalClass.getMethod("handle", signalClass, handlerClass);
            for (String name : NAMES) {
                handle.invoke(null, signalClass.getConstructor(String.class).newInstance(name), proxy);
            }
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("this Java takes no signals", e);
        }
    }

    /** Whether it asks a process to end. */
    static boolean ends(int signal) {
        return signal == HANG_UP || signal == INTERRUPT || signal == TERMINATE;
    }

    /** Sends a signal; that the process is gone by then is no error. */
    static void send(long pid, int signal) {
        LIB_C.kill(Math.toIntExact(pid), signal);
    }

    /**
     * Whether this process group has the terminal. Then a Ctrl-C there goes to every process of the group, children
     * too, and one that is passed on would arrive twice.
     */
    static boolean hasTerminal() {
        for (int descriptor = 0; descriptor <= 2; descriptor++) {
            int group = LIB_C.tcgetpgrp(descriptor);
            if (group > 0) {
                return group == LIB_C.getpgrp();
            }
        }
        return false;
    }
}
