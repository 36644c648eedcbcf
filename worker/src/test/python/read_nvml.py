"""Prints as JSON what nvidia-ml-py reads: the devices, MIG instances among them, with their memory and processes."""

import json

import pynvml


def processes(handle):
    found = {}
    for read in (pynvml.nvmlDeviceGetComputeRunningProcesses, pynvml.nvmlDeviceGetGraphicsRunningProcesses):
        for process in read(handle):
            found[str(process.pid)] = process.usedGpuMemory
    return found


def device(handle):
    memory = pynvml.nvmlDeviceGetMemoryInfo(handle, version=pynvml.nvmlMemory_v2)
    older = pynvml.nvmlDeviceGetMemoryInfo(handle)
    return {
        "uuid": pynvml.nvmlDeviceGetUUID(handle),
        "name": pynvml.nvmlDeviceGetName(handle),
        "total": memory.total,
        "reserved": memory.reserved,
        "used": memory.used,
        "free": memory.free,
        "usedVersion1": older.used,
        "processes": processes(handle),
    }


def slices(handle):
    try:
        if not pynvml.nvmlDeviceGetMigMode(handle)[0]:
            return []
    except pynvml.NVMLError_NotSupported:
        return []
    found = []
    for place in range(pynvml.nvmlDeviceGetMaxMigDeviceCount(handle)):
        try:
            found.append(pynvml.nvmlDeviceGetMigDeviceHandleByIndex(handle, place))
        except pynvml.NVMLError_NotFound:
            pass
    return found


pynvml.nvmlInit()
devices = []
for index in range(pynvml.nvmlDeviceGetCount()):
    card = pynvml.nvmlDeviceGetHandleByIndex(index)
    devices += [device(handle) for handle in slices(card) or [card]]
print(json.dumps(devices))
