package dev.ullage.coordinator.view;

import dev.ullage.common.model.RankInstance;
import dev.ullage.common.protocol.GrantReport;
import dev.ullage.common.protocol.RankSample;
import dev.ullage.common.protocol.ToOperator.DeviceStatus;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * One process on a device, as far as it is known: its ledger may know it without a sample, and a sample without its
 * ledger.
 */
public record KnownRank(RankInstance instance, Optional<GrantReport> grant, Optional<RankSample> sample) {

    /** Every process that the ledger or the sample of the device knows, in the order of the processes. */
    public static List<KnownRank> on(DeviceStatus device) {
        Map<RankInstance, GrantReport> grants = new TreeMap<>();
        device.ledger().ifPresent(ledger -> ledger.grants().forEach(grant -> grants.put(grant.instance(), grant)));
        Map<RankInstance, RankSample> samples = new TreeMap<>();
        device.sample().ifPresent(sample -> sample.ranks().forEach(rank -> samples.put(rank.instance(), rank)));
        TreeSet<RankInstance> instances = new TreeSet<>(grants.keySet());
        instances.addAll(samples.keySet());
        return instances.stream()
                .map(instance -> new KnownRank(
                        instance,
                        Optional.ofNullable(grants.get(instance)),
                        Optional.ofNullable(samples.get(instance))))
                .toList();
    }
}
