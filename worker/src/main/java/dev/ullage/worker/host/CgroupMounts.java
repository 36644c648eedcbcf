package dev.ullage.worker.host;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Where control groups are mounted, of both versions; a host may have the one, the other, or version 1 with an empty
 * version 2 beside it.
 */
public record CgroupMounts(List<Mount> mounts) {
    private static final String MOUNTS = "self/mountinfo";
    private static final String GROUPS = "self/cgroup";
    private static final String VERSION_2 = "cgroup2";
    private static final String VERSION_1 = "cgroup";
    /** Fields before the optional ones, of which a lone hyphen is the end. */
    private static final int ROOT = 3;

    private static final int POINT = 4;
    private static final int FIELDS_AFTER = 3;

    public CgroupMounts {
        mounts = List.copyOf(mounts);
    }

    /**
     * One hierarchy.
     *
     * @param point the folder it is mounted on
     * @param root which of its groups that folder is, as seen from this process' namespace
     * @param controllers of version 1; empty: version 2
     */
    public record Mount(Path point, String root, Optional<List<String>> controllers) {

        /**
         * Whether a line of a process' cgroup file is of this hierarchy: {@code 4:memory:/user} or {@code 0::/user}.
         */
        private boolean isOf(String[] line) {
            List<String> named = List.of(line[1].split(","));
            return controllers
                    .map(mine -> !line[1].isEmpty() && mine.containsAll(named))
                    .orElse(line[1].isEmpty());
        }

        /**
         * The folder of a group, or of the nearest around it that can be seen from here: of a group outside the own
         * namespace, that is the mounted one.
         */
        private Path folder(String group) {
            String base = root.equals("/") ? "" : root;
            if (!group.startsWith(base + "/") || group.contains("..")) {
                return point;
            }
            Path folder = point.resolve(group.substring(base.length() + 1)).normalize();
            while (folder.startsWith(point) && !Files.isDirectory(folder)) {
                folder = folder.resolve("..").normalize();
            }
            return folder.startsWith(point) ? folder : point;
        }
    }

    /**
     * @param proc the folder of processes
     * @throws IOException when what is mounted cannot be read
     */
    public static CgroupMounts read(Path proc) throws IOException {
        List<Mount> mounts = new ArrayList<>();
        for (String line : Files.readAllLines(proc.resolve(MOUNTS), StandardCharsets.ISO_8859_1)) {
            mount(List.of(line.split(" "))).ifPresent(mounts::add);
        }
        return new CgroupMounts(mounts);
    }

    private static Optional<Mount> mount(List<String> fields) {
        int hyphen = fields.indexOf("-");
        if (hyphen <= POINT || fields.size() <= hyphen + FIELDS_AFTER) {
            return Optional.empty();
        }
        String kind = fields.get(hyphen + 1);
        if (!kind.equals(VERSION_2) && !kind.equals(VERSION_1)) {
            return Optional.empty();
        }
        List<String> options = List.of(fields.get(hyphen + FIELDS_AFTER).split(","));
        return Optional.of(new Mount(
                Path.of(unescaped(fields.get(POINT))),
                unescaped(fields.get(ROOT)),
                kind.equals(VERSION_1) ? Optional.of(options) : Optional.empty()));
    }

    /** The kernel writes blanks and backslashes of a path as octal numbers. */
    private static String unescaped(String path) {
        return path.replace("\\040", " ")
                .replace("\\011", "\t")
                .replace("\\012", "\n")
                .replace("\\134", "\\");
    }

    /** Where version 2 is mounted; empty where it is not. */
    public Optional<Path> unified() {
        return mounts.stream()
                .filter(mount -> mount.controllers().isEmpty())
                .map(Mount::point)
                .findFirst();
    }

    /**
     * The groups that this process is in, in each hierarchy its own first and then those around it: a limit of any of
     * them binds it.
     *
     * @throws IOException when they cannot be read
     */
    List<Group> groups(Path proc) throws IOException {
        List<Group> groups = new ArrayList<>();
        for (String line : Files.readAllLines(proc.resolve(GROUPS), StandardCharsets.ISO_8859_1)) {
            String[] fields = line.split(":", 3);
            if (fields.length == 3) {
                mounts.stream()
                        .filter(mount -> mount.isOf(fields))
                        .findFirst()
                        .ifPresent(mount -> groups.addAll(around(mount, mount.folder(fields[2]))));
            }
        }
        return groups;
    }

    private static List<Group> around(Mount mount, Path own) {
        List<Group> groups = new ArrayList<>();
        boolean isUnified = mount.controllers().isEmpty();
        for (Path at = own; at != null && at.startsWith(mount.point()); at = at.getParent()) {
            groups.add(new Group(at, isUnified));
        }
        return groups;
    }

    /**
     * One control group.
     *
     * @param isUnified whether it is of version 2
     */
    record Group(Path folder, boolean isUnified) {}
}
