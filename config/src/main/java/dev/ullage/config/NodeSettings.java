package dev.ullage.config;

import java.nio.file.Path;

/**
 * What a process of Ullage is called and where it keeps what must survive it.
 *
 * @param nodeName stable over restarts; the host's name unless set
 * @param stateDir absolute; need not exist yet
 */
public record NodeSettings(String nodeName, Path stateDir) {}
