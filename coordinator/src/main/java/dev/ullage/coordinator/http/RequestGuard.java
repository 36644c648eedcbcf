package dev.ullage.coordinator.http;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.apache.pekko.http.javadsl.model.HttpHeader;
import org.apache.pekko.http.javadsl.model.HttpMethod;
import org.apache.pekko.http.javadsl.model.HttpMethods;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.StatusCodes;
import org.apache.pekko.http.javadsl.model.headers.Host;

/**
 * Keeps a browser from being used against its own user, and what is to be read from those who may not. A page of
 * another site may send requests to this address, and a name that its owner points here makes them look like its own:
 * so the name asked for must be this machine's, and a page that asks must have come from here.
 */
final class RequestGuard {
    private static final String BEARER = "bearer ";
    /**
     * What shows nothing of the cluster: the live page before it has asked for anything, and whether this node is well.
     */
    private static final List<String> OPEN = List.of("", "/", "/health/live", "/health/ready");

    private static final String PAGE_FOLDER = "/page/";
    private static final String REPORT_FOLDER = "/report/";

    private static final List<HttpMethod> READS = List.of(HttpMethods.GET, HttpMethods.HEAD, HttpMethods.OPTIONS);

    private final ApiSecurity security;

    RequestGuard(ApiSecurity security) {
        this.security = security;
    }

    /** Why a request is not looked at, if so. */
    Optional<Problem> refusal(HttpRequest request) {
        Optional<Host> host = request.getHeader(Host.class);
        String name = host.map(header -> header.host().address()).orElse("");
        if (!name.isEmpty() && !security.answersFor(withoutBrackets(name))) {
            return Optional.of(Problem.of(
                    StatusCodes.MISDIRECTED_REQUEST, "this server does not answer for the name \"" + name + "\""));
        }
        String authority = host.map(HttpHeader::value).orElse("");
        String own = security.scheme() + "://" + authority;
        return request.getHeader("Origin")
                .map(HttpHeader::value)
                .filter(origin -> !origin.toLowerCase(Locale.ROOT).equals(own.toLowerCase(Locale.ROOT)))
                .map(origin -> Problem.of(StatusCodes.FORBIDDEN, "a page of " + origin + " may not use this server"))
                .or(() -> credentialRefusal(request));
    }

    /** Whoever wants to change something shows who they are before they learn what there is to change. */
    private Optional<Problem> credentialRefusal(HttpRequest request) {
        return READS.contains(request.method()) ? readRefusal(request) : writeRefusal(request);
    }

    private Optional<Problem> readRefusal(HttpRequest request) {
        String path = request.getUri().path();
        if (security.reader().isEmpty() || OPEN.contains(path) || isPage(path)) {
            return Optional.empty();
        }
        Optional<String> presented = presented(request);
        if (presented.isEmpty()) {
            return Optional.of(Problem.of(
                    StatusCodes.UNAUTHORIZED,
                    "this server needs the header \"Authorization: Bearer TOKEN\", with the token of"
                            + " ullage.http.read-token-file or the operator's"));
        }
        // Both are compared always: how long it takes says nothing of which is nearer.
        boolean isReader = security.reader().get().matches(presented.get());
        boolean isOperator = security.operator().matches(presented.get());
        return isReader || isOperator
                ? Optional.empty()
                : Optional.of(Problem.of(
                        StatusCodes.UNAUTHORIZED, "this is neither the read token of this server nor its operator's"));
    }

    private static boolean isPage(String path) {
        return path.startsWith(PAGE_FOLDER) || path.startsWith(REPORT_FOLDER);
    }

    /** Why a request may not change anything, if so. */
    Optional<Problem> writeRefusal(HttpRequest request) {
        Optional<String> presented = presented(request);
        if (presented.isEmpty()) {
            return Optional.of(Problem.of(
                    StatusCodes.UNAUTHORIZED,
                    "changes need the header \"Authorization: Bearer TOKEN\"; \"ullage token\" says where it is"));
        }
        if (!security.operator().matches(presented.get())) {
            return Optional.of(Problem.of(
                    StatusCodes.UNAUTHORIZED,
                    "this is not the token of the coordinator's node; \"ullage token\" there says where it is"));
        }
        return Optional.empty();
    }

    private static Optional<String> presented(HttpRequest request) {
        return request.getHeader("Authorization")
                .map(HttpHeader::value)
                .filter(value -> value.toLowerCase(Locale.ROOT).startsWith(BEARER))
                .map(value -> value.substring(BEARER.length()).strip());
    }

    private static String withoutBrackets(String host) {
        return host.startsWith("[") && host.endsWith("]") ? host.substring(1, host.length() - 1) : host;
    }
}
