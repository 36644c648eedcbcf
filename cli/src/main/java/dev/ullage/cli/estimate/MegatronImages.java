package dev.ullage.cli.estimate;

import java.util.Map;

/**
 * What the container images of Megatron-LM's functional tests can do, by the columns {@code platform} and {@code env}.
 * A run's arguments leave some kernels to what the image has.
 */
final class MegatronImages {
    private MegatronImages() {}

    /** A100 wherever the platform says so or says nothing: the tables' unnamed nodes measure as A100 do. */
    static String architecture(Map<String, String> row) {
        String platform = row.getOrDefault("platform", "");
        if (platform.contains("h100")) {
            return "sm90";
        }
        return platform.contains("b200") || platform.contains("b300") ? "sm100" : "sm80";
    }

    /** The older image on the dracooci nodes has no fused attention that is deterministic. */
    static boolean lacksFusedAttention(Map<String, String> row, boolean asked) {
        return isOlderImage(row) && asked;
    }

    /** There, and in the development image for A100, the fuser of the loss does not compile. */
    static boolean lossFallsBack(Map<String, String> row) {
        return isOlderImage(row) || ("dev".equals(row.get("env")) && "dgx_a100".equals(row.get("platform")));
    }

    private static boolean isOlderImage(Map<String, String> row) {
        return "lts".equals(row.get("env")) && row.getOrDefault("platform", "").contains("dracooci");
    }
}
