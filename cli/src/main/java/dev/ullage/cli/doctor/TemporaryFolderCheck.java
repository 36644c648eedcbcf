package dev.ullage.cli.doctor;

import java.nio.file.Path;
import java.util.List;

/** JNA unpacks its native part there, which must be run from there. */
final class TemporaryFolderCheck implements Check {
    private static final String NAME = "temporary folder";
    private static final Path MOUNTS = Path.of("/proc/self/mounts");
    private static final String REMEDY = "set ULLAGE_TMPDIR to a folder that programs may be run from";

    @Override
    public Finding look(Machine machine) {
        Path folder = machine.temporaryFolder().toAbsolutePath().normalize();
        if (!machine.isWritableFolder(folder)) {
            return Finding.fail(NAME, folder + " cannot be written to; NVML cannot be called", REMEDY);
        }
        if (optionsOf(folder, machine.text(MOUNTS).orElse("")).contains("noexec")) {
            return Finding.fail(NAME, folder + " is mounted noexec; NVML cannot be called", REMEDY);
        }
        return Finding.pass(NAME, folder.toString());
    }

    /** Those of the deepest mount that the folder is below; of two at one place the later one counts. */
    private static List<String> optionsOf(Path folder, String mounts) {
        List<String> options = List.of();
        int depth = -1;
        for (String line : mounts.lines().toList()) {
            String[] fields = line.split(" ", -1);
            if (fields.length < 4 || !fields[1].startsWith("/")) {
                continue;
            }
            Path place = Path.of(fields[1].replace("\\040", " "));
            if (folder.startsWith(place) && place.getNameCount() >= depth) {
                depth = place.getNameCount();
                options = List.of(fields[3].split(",", -1));
            }
        }
        return options;
    }
}
