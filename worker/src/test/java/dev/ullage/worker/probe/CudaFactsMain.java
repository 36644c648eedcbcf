package dev.ullage.worker.probe;

import dev.ullage.common.model.DeviceId;

/**
 * What a process with its own libraries sees; started by {@link JCudaFactsTest}, because a process finds
 * {@code libcuda.so.1} where it looked when it started. Arguments: the NVML library, and whether to measure a context.
 */
public final class CudaFactsMain {
    private CudaFactsMain() {}

    public static void main(String[] args) throws ProbeUnavailableException {
        JCudaFacts cuda = new JCudaFacts();
        try (NvmlProbe probe = NvmlProbe.open(args[0], NvmlHost.real(cuda))) {
            DeviceId first = probe.devices().get(0).id();
            System.out.println("kind=" + probe.devices().get(0).kind());
            System.out.println("problems=" + probe.problems());
            System.out.println("loaded=" + cuda.isLoaded());
            System.out.println("order="
                    + probe.fastestFirst()
                            .map(order -> order.stream()
                                    .map(id -> id.value().substring(0, 5))
                                    .toList()
                                    .toString())
                            .orElse("?"));
            if (Boolean.parseBoolean(args[1])) {
                ContextOverhead overhead = ContextOverhead.measure(probe, first);
                System.out.println(
                        "overhead=" + overhead.bytes().map(Object::toString).orElse("?"));
                System.out.println("how=" + overhead.how());
            }
        }
    }
}
