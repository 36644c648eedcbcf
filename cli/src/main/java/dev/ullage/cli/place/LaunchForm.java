package dev.ullage.cli.place;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.common.model.Counts;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A placement in the words of what starts the ranks. All lines that are not to be run or put in a file start with
 * {@code #}; {@code COMMAND} stands for the program and its arguments. Pure.
 */
enum LaunchForm {
    TORCHRUN {
        @Override
        String text(List<PlacedRank> ranks, PlacementWish wish) {
            Map<String, List<PlacedRank>> nodes = byNode(ranks);
            List<String> lines = new ArrayList<>();
            String first = ranks.get(0).node();
            int number = 0;
            for (Map.Entry<String, List<PlacedRank>> node : nodes.entrySet()) {
                String where = nodes.size() == 1
                        ? "--standalone"
                        : "--nnodes=%d --node_rank=%d --master_addr=%s --master_port=29500"
                                .formatted(nodes.size(), number++, first);
                lines.add("# on " + node.getKey());
                // Underscores: torchrun takes hyphens as well only since torch 2.
                lines.add("CUDA_VISIBLE_DEVICES=%s torchrun %s --nproc_per_node=%d COMMAND"
                        .formatted(
                                String.join(",", uuids(node.getValue())),
                                where,
                                node.getValue().size()));
            }
            return joined(lines, ranks);
        }
    },
    MPIRUN {
        @Override
        String text(List<PlacedRank> ranks, PlacementWish wish) {
            List<String> lines = new ArrayList<>();
            byNode(ranks).forEach((node, there) -> lines.add("# hostfile: %s slots=%d".formatted(node, there.size())));
            lines.add(mpirun(ranks, ""));
            return joined(lines, ranks);
        }

        @Override
        boolean givesEachRankItsDevice() {
            return true;
        }
    },
    HOROVODRUN {
        @Override
        String text(List<PlacedRank> ranks, PlacementWish wish) {
            List<String> lines = new ArrayList<>();
            byNode(ranks).forEach((node, there) -> lines.add("# hostfile: %s slots=%d".formatted(node, there.size())));
            lines.add("horovodrun -np %d -H %s COMMAND".formatted(ranks.size(), hosts(ranks)));
            return joined(lines, ranks);
        }
    },
    DEEPSPEED {
        /** It sets CUDA_VISIBLE_DEVICES itself, by numbers, and gives each device one rank. */
        @Override
        String text(List<PlacedRank> ranks, PlacementWish wish) {
            List<String> lines = new ArrayList<>();
            List<String> included = new ArrayList<>();
            byNode(ranks).forEach((node, there) -> {
                TreeSet<Integer> numbers =
                        there.stream().map(PlacedRank::index).collect(Collectors.toCollection(TreeSet::new));
                lines.add("# hostfile: %s slots=%d".formatted(node, numbers.last() + 1));
                included.add(node + ":" + numbers.stream().map(String::valueOf).collect(Collectors.joining(",")));
            });
            lines.add("CUDA_DEVICE_ORDER=PCI_BUS_ID deepspeed --hostfile=HOSTFILE --include=\"%s\" COMMAND"
                    .formatted(String.join("@", included)));
            return joined(lines, ranks);
        }

        @Override
        Optional<String> refusal(PlacementWish wish) {
            return wish.ranksPerDevice() > 1
                    ? Optional.of(
                            "deepspeed gives each device one rank; --ranks-per-device is " + wish.ranksPerDevice())
                    : Optional.empty();
        }
    },
    SRUN {
        /** Slurm's file of hosts names one for each task; each task takes its own device by its number. */
        @Override
        String text(List<PlacedRank> ranks, PlacementWish wish) {
            List<String> lines = new ArrayList<>();
            ranks.forEach(rank -> lines.add("# SLURM_HOSTFILE: " + rank.node()));
            String cases = ranks.stream()
                    .map(rank -> "%d) d=%s;;".formatted(rank.rank(), rank.uuid()))
                    .collect(Collectors.joining(" "));
            lines.add(("SLURM_HOSTFILE=HOSTFILE srun --nodes=%d --ntasks=%d --distribution=arbitrary sh -c"
                            + " 'case $SLURM_PROCID in %s esac; CUDA_VISIBLE_DEVICES=$d exec \"$@\"' sh COMMAND")
                    .formatted(byNode(ranks).size(), ranks.size(), cases));
            return joined(lines, ranks);
        }

        @Override
        boolean givesEachRankItsDevice() {
            return true;
        }
    },
    HOSTFILE {
        /** As mpirun, horovodrun and deepspeed read it; which device a rank is to see has no place there. */
        @Override
        String text(List<PlacedRank> ranks, PlacementWish wish) {
            StringBuilder text = new StringBuilder();
            byNode(ranks).forEach((node, there) -> text.append("%s slots=%d\n".formatted(node, there.size())));
            return text.toString();
        }

        @Override
        boolean givesEachRankItsDevice() {
            return true; // it gives none: whoever reads it does
        }
    },
    NODELIST {
        /** As srun --nodelist reads it. */
        @Override
        String text(List<PlacedRank> ranks, PlacementWish wish) {
            return String.join(",", byNode(ranks).keySet()) + "\n";
        }

        @Override
        boolean givesEachRankItsDevice() {
            return true;
        }
    },
    RANKFILE {
        /**
         * Open MPI binds each rank to the logical cores that its line names, whatever --bind-to says, and reads no
         * other lines but comments: so the command that goes with it is one.
         */
        @Override
        String text(List<PlacedRank> ranks, PlacementWish wish) {
            int cores = wish.cores().orElseThrow();
            List<String> lines = new ArrayList<>();
            lines.add("# " + mpirun(ranks, "--rankfile RANKFILE "));
            for (PlacedRank rank : ranks) {
                int first = rank.localRank() * cores;
                lines.add("rank %d=%s slot=%s"
                        .formatted(rank.rank(), rank.node(), cores == 1 ? first : first + "-" + (first + cores - 1)));
            }
            return joined(lines, ranks);
        }

        @Override
        Optional<String> refusal(PlacementWish wish) {
            return wish.cores().isEmpty()
                    ? Optional.of("rankfile needs --cores: Open MPI binds each rank to the cores that its line names")
                    : Optional.empty();
        }

        @Override
        boolean givesEachRankItsDevice() {
            return true;
        }
    },
    JSON {
        @Override
        String text(List<PlacedRank> ranks, PlacementWish wish) {
            ObjectNode root = JsonNodeFactory.instance.objectNode();
            root.put("schema", SCHEMA);
            root.put("reserved", false);
            ArrayNode list = root.putArray("ranks");
            for (PlacedRank rank : ranks) {
                ObjectNode node = list.addObject();
                node.put("rank", rank.rank());
                node.put("node", rank.node());
                node.put("localRank", rank.localRank());
                node.put("device", rank.uuid());
                node.put("index", rank.index());
            }
            return root + "\n";
        }

        @Override
        Optional<String> refusal(List<PlacedRank> ranks) {
            return Optional.empty();
        }
    };

    /** Raised when a script that read the last JSON could not read this one. */
    private static final int SCHEMA = 1;

    private static final int MAX_HOST_NAME = 253;
    private static final Pattern HOST_NAME = Pattern.compile(
            "[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*");

    /**
     * What to run or to write into a file.
     *
     * @param ranks one at least, in the order of their number, those of a node together
     */
    abstract String text(List<PlacedRank> ranks, PlacementWish wish);

    /** Why this launcher cannot do it; empty when it can. */
    Optional<String> refusal(PlacementWish wish) {
        return Optional.empty();
    }

    /** Whether a rank need not choose among the devices that its node's ranks see: CUDA shows one MIG instance only. */
    boolean givesEachRankItsDevice() {
        return false;
    }

    /**
     * Why what was found cannot be said in these words; empty when it can.
     *
     * @param ranks as for {@link #text}
     */
    Optional<String> refusal(List<PlacedRank> ranks) {
        Optional<String> notAHost = ranks.stream()
                .map(PlacedRank::node)
                .distinct()
                .filter(node -> !isHostName(node))
                .findFirst()
                .map(node ->
                        ("node name '%s' is no host name (letters, digits and hyphens, in parts of 1 to 63 with dots"
                                        + " between them), so no launcher could reach it; set ullage.node.name there, or use"
                                        + " --format json")
                                .formatted(node));
        return notAHost.isPresent() ? notAHost : instances(ranks);
    }

    private Optional<String> instances(List<PlacedRank> ranks) {
        return byNode(ranks).entrySet().stream()
                .filter(node -> !givesEachRankItsDevice()
                        && uuids(node.getValue()).size() > 1
                        && node.getValue().stream().anyMatch(rank -> rank.uuid().startsWith("MIG-")))
                .findFirst()
                .map(node -> ("the ranks on %s have %s, MIG instances among them, of which a process sees only the"
                                + " first; %s cannot give each rank its own: use --format mpirun or srun")
                        .formatted(
                                node.getKey(), Counts.of(uuids(node.getValue()).size(), "device"), label()));
    }

    /** By RFC 1123; an IPv4 address is one, too. */
    private static boolean isHostName(String name) {
        return name.length() <= MAX_HOST_NAME && HOST_NAME.matcher(name).matches();
    }

    String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    static Optional<LaunchForm> of(String label) {
        return Arrays.stream(values())
                .filter(form -> form.label().equals(label))
                .findFirst();
    }

    /**
     * One context for each device, because that gives its ranks an environment of their own. Each has all slots of its
     * host, since Open MPI counts what earlier contexts took of it.
     */
    private static String mpirun(List<PlacedRank> ranks, String options) {
        List<String> contexts = new ArrayList<>();
        byNode(ranks).forEach((node, there) -> byDevice(there)
                .forEach((uuid, sharing) -> contexts.add("-np %d -H %s:%d -x CUDA_VISIBLE_DEVICES=%s COMMAND"
                        .formatted(sharing.size(), node, there.size(), uuid))));
        return "mpirun " + options + String.join(" : ", contexts);
    }

    private static Map<String, List<PlacedRank>> byNode(List<PlacedRank> ranks) {
        return ranks.stream().collect(Collectors.groupingBy(PlacedRank::node, LinkedHashMap::new, Collectors.toList()));
    }

    private static Map<String, List<PlacedRank>> byDevice(List<PlacedRank> ranks) {
        return ranks.stream().collect(Collectors.groupingBy(PlacedRank::uuid, LinkedHashMap::new, Collectors.toList()));
    }

    private static Set<String> uuids(List<PlacedRank> ranks) {
        return ranks.stream().map(PlacedRank::uuid).collect(Collectors.toCollection(LinkedHashSet::new));
    }

    private static String hosts(List<PlacedRank> ranks) {
        return byNode(ranks).entrySet().stream()
                .map(node -> node.getKey() + ":" + node.getValue().size())
                .collect(Collectors.joining(","));
    }

    /** The lines, and under them for people and scripts which device each rank is to see. */
    private static String joined(List<String> lines, List<PlacedRank> ranks) {
        List<String> all = new ArrayList<>(lines);
        ranks.forEach(rank -> all.add("# rank %d: %s, local rank %d, CUDA_VISIBLE_DEVICES=%s"
                .formatted(rank.rank(), rank.node(), rank.localRank(), rank.uuid())));
        return String.join("\n", all) + "\n";
    }
}
