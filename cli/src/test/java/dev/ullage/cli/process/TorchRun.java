package dev.ullage.cli.process;

import java.util.List;

/**
 * torchrun for the ranks of one test, as a module so that it runs on Debian's interpreter.
 *
 * <p>Streams are redirected because torch 1.13 on Python 3.11 cannot read its own default for that option (a flag of
 * value 0 is not iterated any more).
 */
final class TorchRun {
    /** What RunIT has. Only one of a host at a time: it is one fixed port for every torchrun of it. */
    static final List<String> STANDALONE = List.of(
            Distribution.PYTHON, "-m", "torch.distributed.run", "--standalone", "--redirects", "1", "--tee", "1");

    private TorchRun() {}

    /** The command up to the script. Its agents meet at a port of their own. */
    static List<String> of(int ranks) {
        return List.of(
                Distribution.PYTHON,
                "-m",
                "torch.distributed.run",
                "--nproc_per_node",
                Integer.toString(ranks),
                "--redirects",
                "1",
                "--tee",
                "1",
                "--rdzv_backend",
                "c10d",
                "--rdzv_endpoint",
                "127.0.0.1:" + Ports.free(),
                "--rdzv_id",
                "test");
    }
}
