package dev.ullage.coordinator.http;

import dev.ullage.config.HttpSettings;
import java.util.Locale;
import java.util.Optional;
import org.apache.pekko.http.javadsl.model.HttpHeader;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.StatusCodes;
import org.apache.pekko.http.javadsl.model.headers.Host;

/**
 * Keeps a browser from being used against its own user. A page of another site may send requests to this address, and a
 * name that its owner points here makes them look like its own: so the name asked for must be this machine's, and a
 * page that asks must have come from here.
 */
final class RequestGuard {
    private static final String BEARER = "bearer ";

    private final OperatorToken token;

    RequestGuard(OperatorToken token) {
        this.token = token;
    }

    /** Why a request is not looked at, if so. */
    Optional<Problem> refusal(HttpRequest request) {
        Optional<Host> host = request.getHeader(Host.class);
        String name = host.map(header -> header.host().address()).orElse("");
        if (!name.isEmpty() && !HttpSettings.isLoopback(withoutBrackets(name))) {
            return Optional.of(Problem.of(
                    StatusCodes.MISDIRECTED_REQUEST, "this server does not answer for the name \"" + name + "\""));
        }
        String authority = host.map(HttpHeader::value).orElse("");
        return request.getHeader("Origin")
                .map(HttpHeader::value)
                .filter(origin -> !origin.toLowerCase(Locale.ROOT).equals("http://" + authority))
                .map(origin -> Problem.of(StatusCodes.FORBIDDEN, "a page of " + origin + " may not use this server"));
    }

    /** Why a request may not change anything, if so. */
    Optional<Problem> writeRefusal(HttpRequest request) {
        String presented =
                request.getHeader("Authorization").map(HttpHeader::value).orElse("");
        if (!presented.toLowerCase(Locale.ROOT).startsWith(BEARER)) {
            return Optional.of(Problem.of(
                    StatusCodes.UNAUTHORIZED,
                    "changes need the header \"Authorization: Bearer TOKEN\"; \"ullage token\" says where it is"));
        }
        if (!token.matches(presented.substring(BEARER.length()).strip())) {
            return Optional.of(Problem.of(
                    StatusCodes.UNAUTHORIZED,
                    "this is not the token of the coordinator's node; \"ullage token\" there says where it is"));
        }
        return Optional.empty();
    }

    private static String withoutBrackets(String host) {
        return host.startsWith("[") && host.endsWith("]") ? host.substring(1, host.length() - 1) : host;
    }
}
