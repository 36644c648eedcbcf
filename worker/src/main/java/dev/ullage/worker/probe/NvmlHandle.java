package dev.ullage.worker.probe;

/**
 * What NVML knows a device, a MIG instance or an event set by; equal for the same one.
 *
 * @param address of no meaning outside the library that gave it
 */
record NvmlHandle(long address) {}
