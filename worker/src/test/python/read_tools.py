"""Prints as JSON what gpustat and nvitop show of each device: memory, in the unit the tool has, and processes."""

import json

import gpustat
from nvitop import Device

print(json.dumps({
    "gpustat": [
        {"uuid": gpu.uuid, "totalMib": gpu.memory_total, "usedMib": gpu.memory_used}
        for gpu in gpustat.new_query()
    ],
    "nvitop": [
        {
            "uuid": device.uuid(),
            "total": device.memory_info().total,
            "reserved": device.memory_info().reserved,
            "used": device.memory_used(),
            "free": device.memory_free(),
            "processes": sorted(device.processes()),
        }
        for device in Device.all()
    ],
}))
