package dev.ullage.worker.probe;

import com.sun.jna.Library;
import com.sun.jna.Native;
import dev.ullage.worker.probe.ProbeUnavailableException.Reason;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/** Loads NVML and starts it, or says in one sentence why that is not possible. */
final class NvmlLoader {
    /** {@code RTLD_LAZY}: not global, so that two NVML libraries in one process do not see each other's symbols. */
    private static final Map<String, Integer> OPTIONS = Map.of(Library.OPTION_OPEN_FLAGS, 1);

    /** Where the code does not say more. */
    static final String LOOK_AT_THE_DRIVER =
            "see whether nvidia-smi works, and what the kernel says (dmesg | grep NVRM)";

    private NvmlLoader() {}

    /**
     * Initialises NVML. The caller shuts it down.
     *
     * @param library what the calls are made to, for people
     */
    static void start(NvmlCalls calls, String library) throws ProbeUnavailableException {
        NvmlAnswer<Boolean> started = calls.initialise();
        if (!started.isSuccess()) {
            throw unavailable(library, started);
        }
    }

    /** NVML, loaded and not yet initialised. */
    static NvmlCalls load(String library) throws ProbeUnavailableException {
        requireNativeCalls();
        try {
            return new NativeNvmlCalls(
                    Native.load(library, NvmlLibrary.class, OPTIONS),
                    symbol -> DirectFunction.of(library, OPTIONS, symbol));
        } catch (UnsatisfiedLinkError e) {
            throw notLoaded(library, e);
        }
    }

    private static ProbeUnavailableException notLoaded(String library, UnsatisfiedLinkError e) {
        Path file = Path.of(library);
        // The loader's words for a library that is not there are also those for one of another processor's.
        Optional<String> isThere = file.isAbsolute() && Files.exists(file)
                ? Optional.of(
                        "it is there, but not for this machine's processor, or a library that it needs is missing")
                : Optional.empty();
        Optional<String> otherFault = String.valueOf(e.getMessage())
                .lines()
                .skip(1)
                .filter(line -> !isAboutAMissingOne(line, String.valueOf(file.getFileName())))
                .filter(line -> !line.contains("not found in resource path"))
                .findFirst()
                .or(() -> isThere);
        if (otherFault.isPresent()) {
            return new ProbeUnavailableException(
                    Reason.LIBRARY_NOT_LOADABLE,
                    "NVML library '%s' cannot be loaded: %s".formatted(library, otherFault.get()),
                    e);
        }
        return new ProbeUnavailableException(
                Reason.LIBRARY_NOT_FOUND,
                "NVML library '%s' was not found".formatted(library),
                "install the NVIDIA driver, or make the driver's libraries visible in this container, or set"
                        + " nvml-library to its path",
                e);
    }

    /** Itself; a library that it needs and that is missing is another matter. */
    private static boolean isAboutAMissingOne(String line, String fileName) {
        return line.contains("No such file or directory") && line.contains(fileName);
    }

    /** JNA unpacks a library of its own on first use, which fails where temporary files must not be executed. */
    private static void requireNativeCalls() throws ProbeUnavailableException {
        try {
            if (Native.POINTER_SIZE != Long.BYTES) {
                throw new ProbeUnavailableException(
                        Reason.NATIVE_CALLS_NOT_POSSIBLE, "NVML needs a 64-bit Java, this one is not");
            }
        } catch (UnsatisfiedLinkError | NoClassDefFoundError e) {
            throw new ProbeUnavailableException(
                    Reason.NATIVE_CALLS_NOT_POSSIBLE,
                    "this Java cannot call native libraries, which NVML needs",
                    "if its temporary folder is mounted noexec, set -Djna.tmpdir to a folder that is not",
                    e);
        }
    }

    private static ProbeUnavailableException unavailable(String library, NvmlAnswer<Boolean> started) {
        return switch (started.outcome()) {
            case DRIVER_NOT_LOADED ->
                because(
                        Reason.DRIVER_NOT_LOADED,
                        started,
                        "the NVIDIA kernel module is not loaded",
                        "load it (modprobe nvidia), or run nvidia-smi as root once, which does; dmesg | grep NVRM says"
                                + " why it does not stay");
            case LIB_RM_VERSION_MISMATCH ->
                because(
                        Reason.VERSION_MISMATCH,
                        started,
                        "library and kernel module have different versions, as after an update of the driver",
                        "restart the host or reload the module");
            case NO_PERMISSION ->
                because(
                        Reason.NO_PERMISSION,
                        started,
                        "this user may not open the driver's files /dev/nvidia*",
                        "look at who may (ls -l /dev/nvidia*), and give this user that group or right");
            case LIBRARY_NOT_FOUND ->
                because(
                        Reason.LIBRARY_NOT_FOUND,
                        started,
                        "a library that NVML needs is missing",
                        "reinstall the driver");
            case FUNCTION_NOT_FOUND ->
                because(
                        Reason.LIBRARY_NOT_LOADABLE,
                        started,
                        "'" + library + "' is not NVML, or is older than Ullage can use",
                        "set nvml-library to the driver's libnvidia-ml.so.1, of a driver of version 470 or newer");
            default -> because(Reason.NVML_FAILED, started, "NVML does not start", LOOK_AT_THE_DRIVER);
        };
    }

    static ProbeUnavailableException because(Reason reason, NvmlAnswer<?> answer, String fact, String remedy) {
        return new ProbeUnavailableException(reason, fact + " [" + answer.failure() + "]", remedy, null);
    }
}
