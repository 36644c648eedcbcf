package dev.ullage.cli.process;

import java.util.List;

/**
 * torchrun for the ranks of one test, as a module so that it runs on Debian's interpreter.
 *
 * <p>Streams are redirected because torch 1.13 on Python 3.11 cannot read its own default for that option (a flag of
 * value 0 is not iterated any more).
 */
final class TorchRun {
    private static final List<String> TORCHRUN =
            List.of(Distribution.PYTHON, "-m", "torch.distributed.run", "--redirects", "1", "--tee", "1");

    /** What RunIT has. Only one of a host at a time: it is one fixed port for every torchrun of it. */
    static final List<String> STANDALONE = UpNode.concat(TORCHRUN, List.of("--standalone"));

    private TorchRun() {}

    /** The command up to the script. Its agents meet at a port of their own. */
    static List<String> of(int ranks) {
        List<String> agents = List.of(
                "--nproc_per_node",
                Integer.toString(ranks),
                "--rdzv_backend",
                "c10d",
                "--rdzv_endpoint",
                "127.0.0.1:" + Ports.free(),
                "--rdzv_id",
                "test");
        return UpNode.concat(TORCHRUN, agents);
    }
}
