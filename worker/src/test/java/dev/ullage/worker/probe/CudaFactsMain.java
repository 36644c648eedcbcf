package dev.ullage.worker.probe;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceReading;

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
            DeviceReading reading = probe.read(first);
            System.out.println("memory="
                    + reading.memory()
                            .map(memory -> "[total %d used %d free %d reserved %s]"
                                    .formatted(
                                            memory.total().value(),
                                            memory.used().value(),
                                            memory.free().value(),
                                            memory.reserved()
                                                    .map(Object::toString)
                                                    .orElse("?")))
                            .orElse("?"));
            System.out.println("why=" + reading.problems());
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
