package dev.ullage.worker.ranks;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/** Sessions by id, for the threads of the socket. Written by the hub alone. */
final class SessionDirectory {
    private final ConcurrentMap<String, SessionHandle> handles = new ConcurrentHashMap<>();

    void put(SessionHandle handle) {
        handles.put(handle.id(), handle);
    }

    void remove(String id) {
        handles.remove(id);
    }

    /** The session with this id, if the token is its own. */
    Optional<SessionHandle> find(String id, String token) {
        return Optional.ofNullable(handles.get(id)).filter(handle -> sameToken(handle.token(), token));
    }

    private static boolean sameToken(String expected, String actual) {
        return MessageDigest.isEqual(
                expected.getBytes(StandardCharsets.UTF_8), actual.getBytes(StandardCharsets.UTF_8));
    }
}
