package dev.ullage.common.model;

/** Why a request for device memory failed, as far as the text of the error tells. */
public enum OomKind {
    /** Much is reserved by the allocator and not in use, but in no piece that is large enough. */
    FRAGMENTATION,
    /** As above, and another process holds enough of the device to be the cause. */
    FRAGMENTATION_OR_FOREIGN,
    /** The process ran into its own limit while the device had room. */
    OWN_LIMIT,
    /** The device has no more. */
    DEVICE_FULL,
    /** It ran out, and the text does not say why. */
    UNKNOWN
}
