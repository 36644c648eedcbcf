package dev.ullage.cli.devices;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.cli.devices.ShownDevice.Figures;
import dev.ullage.cli.devices.ShownDevice.Names;
import dev.ullage.cli.devices.ShownDevice.ShownProcess;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.MemoryBytes;
import java.util.List;
import java.util.OptionalLong;

/**
 * Devices as JSON for people's scripts. Pure. Bytes are whole numbers, the unit is in a field's name; what is not known
 * is {@code null}, never 0 and never left out. Fields are added, not changed, while {@code schema} stays the same.
 */
final class DevicesJson {
    static final int SCHEMA = 1;

    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private DevicesJson() {}

    /** @param errors why there is nothing to show; empty when that is not so */
    static ObjectNode of(List<ShownSource> sources, List<String> errors) {
        ObjectNode json = NODES.objectNode();
        json.put("schema", SCHEMA);
        ArrayNode list = json.putArray("sources");
        ArrayNode devices = json.putArray("devices");
        for (ShownSource source : sources) {
            ObjectNode one = list.addObject();
            one.put("source", source.name());
            one.put("driverVersion", source.driver().orElse(null));
            source.problems().forEach(one.putArray("problems")::add);
            source.devices().forEach(device -> devices.add(device(source, device)));
        }
        errors.forEach(json.putArray("errors")::add);
        return json;
    }

    private static ObjectNode device(ShownSource source, ShownDevice device) {
        ObjectNode json = NODES.objectNode();
        json.put("source", source.name());
        Names names = device.names();
        if (names.index().isPresent()) {
            json.put("index", names.index().getAsInt());
        } else {
            json.putNull("index");
        }
        json.put("uuid", names.uuid().orElse(null));
        json.put("pciBusId", names.pciBusId().orElse(null));
        json.put("name", names.name().orElse(null));
        json.put("kind", device.kind().map(DeviceKind::label).orElse(null));
        Figures figures = device.figures();
        put(json, "totalBytes", figures.total());
        put(json, "reservedBytes", figures.reserved());
        put(json, "allocatableBytes", figures.allocatable());
        put(json, "usedBytes", figures.used());
        put(json, "freeBytes", figures.free());
        device.processes()
                .ifPresentOrElse(
                        processes -> {
                            ArrayNode list = json.putArray("processes");
                            processes.forEach(process -> list.add(process(process)));
                        },
                        () -> json.putNull("processes"));
        put(json, "unlistedBytes", device.unlisted());
        device.context().ifPresent(context -> {
            put(
                    json,
                    "contextBytes",
                    context.bytes().stream().mapToLong(MemoryBytes::value).findFirst());
            json.put("contextHow", context.how());
        });
        device.problems().forEach(json.putArray("problems")::add);
        return json;
    }

    private static ObjectNode process(ShownProcess process) {
        ObjectNode json = NODES.objectNode();
        json.put("pid", process.pid());
        json.put("name", process.name().orElse(null));
        put(json, "usedBytes", process.used());
        return json;
    }

    private static void put(ObjectNode json, String name, OptionalLong bytes) {
        if (bytes.isPresent()) {
            json.put(name, bytes.getAsLong());
        } else {
            json.putNull(name);
        }
    }
}
