package dev.ullage.cli.place;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
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
import java.util.stream.Collectors;

/**
 * A placement in the words of what starts the ranks. All lines that are not to be run or put in a file start with
 * {@code #}; {@code COMMAND} stands for the program and its arguments. Pure.
 */
enum LaunchForm {
    TORCHRUN {
        @Override
        String text(List<PlacedRank> ranks) {
            Map<String, List<PlacedRank>> nodes = byNode(ranks);
            List<String> lines = new ArrayList<>();
            String first = ranks.get(0).node();
            int number = 0;
            for (Map.Entry<String, List<PlacedRank>> node : nodes.entrySet()) {
                String where = nodes.size() == 1
                        ? "--standalone"
                        : "--nnodes=%d --node-rank=%d --master-addr=%s --master-port=29500"
                                .formatted(nodes.size(), number++, first);
                lines.add("# on " + node.getKey());
                lines.add("CUDA_VISIBLE_DEVICES=%s torchrun %s --nproc-per-node=%d COMMAND"
                        .formatted(
                                String.join(",", uuids(node.getValue())),
                                where,
                                node.getValue().size()));
            }
            return joined(lines, ranks);
        }
    },
    MPIRUN {
        /**
         * One context for each device, because that gives its ranks an environment of their own. Each has all slots of
         * its host, since Open MPI counts what earlier contexts took of it.
         */
        @Override
        String text(List<PlacedRank> ranks) {
            Map<String, List<PlacedRank>> nodes = byNode(ranks);
            List<String> contexts = new ArrayList<>();
            List<String> lines = new ArrayList<>();
            nodes.forEach((node, there) -> {
                byDevice(there)
                        .forEach((uuid, sharing) -> contexts.add("-np %d -H %s:%d -x CUDA_VISIBLE_DEVICES=%s COMMAND"
                                .formatted(sharing.size(), node, there.size(), uuid)));
                lines.add("# hostfile: %s slots=%d".formatted(node, there.size()));
            });
            lines.add("mpirun " + String.join(" : ", contexts));
            return joined(lines, ranks);
        }
    },
    HOROVODRUN {
        @Override
        String text(List<PlacedRank> ranks) {
            List<String> lines = new ArrayList<>();
            byNode(ranks).forEach((node, there) -> lines.add("# hostfile: %s slots=%d".formatted(node, there.size())));
            lines.add("horovodrun -np %d -H %s COMMAND".formatted(ranks.size(), hosts(ranks)));
            return joined(lines, ranks);
        }
    },
    DEEPSPEED {
        /** It sets CUDA_VISIBLE_DEVICES itself, by numbers, and gives each device one rank. */
        @Override
        String text(List<PlacedRank> ranks) {
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
        String text(List<PlacedRank> ranks) {
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
    },
    JSON {
        @Override
        String text(List<PlacedRank> ranks) {
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
    };

    /** Raised when a script that read the last JSON could not read this one. */
    private static final int SCHEMA = 1;

    /** @param ranks one at least, in the order of their number, those of a node together */
    abstract String text(List<PlacedRank> ranks);

    /** Why this launcher cannot do it; empty when it can. */
    Optional<String> refusal(PlacementWish wish) {
        return Optional.empty();
    }

    String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    static Optional<LaunchForm> of(String label) {
        return Arrays.stream(values())
                .filter(form -> form.label().equals(label))
                .findFirst();
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
