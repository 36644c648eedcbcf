// Server-sent events over fetch: unlike EventSource it says why it failed, and the pause before it tries again is ours.

const PATH = '/api/v1/stream';
const FIRST_WAIT = 500;
const LONGEST_WAIT = 5000;
// The server sends something at least each 10 s; a connection that is silent for longer is taken for dead.
const SILENCE = 15000;
// For this tab, until it is closed: never in an address, a cookie or on disk.
const TOKEN = 'ullage-read-token';

/** Takes pieces of a stream and hands on whole messages. */
export function parser(onMessage) {
  let rest = '';
  let message = { event: 'message', data: [], id: undefined };
  return (piece) => {
    rest += piece;
    let end;
    while ((end = rest.indexOf('\n')) >= 0) {
      const line = rest.slice(0, end).replace(/\r$/, '');
      rest = rest.slice(end + 1);
      if (line === '') {
        if (message.data.length > 0) {
          onMessage({ event: message.event, data: message.data.join('\n'), id: message.id });
        }
        message = { event: 'message', data: [], id: undefined };
        continue;
      }
      const colon = line.indexOf(':');
      const field = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
      if (field === 'data') {
        message.data.push(value);
      } else if (field === 'event' || field === 'id') {
        message[field] = value;
      }
    }
  };
}

/**
 * Reads for as long as the page lives. Tries again after a growing pause.
 * listener: snapshot(json), events(json), state(name, text), token(text): a promise of the read token, when the server
 * asks for one and says why
 */
export async function read(listener) {
  let lastEvent;
  let wait = FIRST_WAIT;
  const parse = () =>
    parser((message) => {
      if (message.id) {
        lastEvent = message.id;
      }
      wait = FIRST_WAIT;
      listener[message.event]?.(JSON.parse(message.data));
    });
  for (;;) {
    try {
      await once(lastEvent, parse(), listener);
      listener.state('lost', 'the connection was closed');
    } catch (failure) {
      if (failure instanceof Unauthorized) {
        listener.state('locked', failure.message);
        sessionStorage.setItem(TOKEN, await listener.token(failure.message));
        wait = FIRST_WAIT;
        continue;
      }
      listener.state('lost', reasonOf(failure));
    }
    await new Promise((resolve) => setTimeout(resolve, wait));
    wait = Math.min(wait * 2, LONGEST_WAIT);
  }
}

class Unauthorized extends Error {}

/** In words of its own: browsers say "Failed to fetch" and the like. */
function reasonOf(failure) {
  if (failure.name === 'AbortError') {
    return `nothing came from this node for ${SILENCE / 1000} s`;
  }
  return failure instanceof TypeError ? 'this node does not answer' : String(failure.message ?? failure);
}

async function once(lastEvent, parse, listener) {
  const abort = new AbortController();
  let watchdog = setTimeout(() => abort.abort(), SILENCE);
  try {
    const response = await fetch(PATH, { headers: headers(lastEvent), cache: 'no-store', signal: abort.signal });
    if (response.status === 401) {
      sessionStorage.removeItem(TOKEN);
      throw new Unauthorized(await problem(response));
    }
    if (!response.ok) {
      throw new Error(await problem(response));
    }
    listener.state('live', '');
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) {
        return;
      }
      clearTimeout(watchdog);
      watchdog = setTimeout(() => abort.abort(), SILENCE);
      parse(decoder.decode(value, { stream: true }));
    }
  } finally {
    clearTimeout(watchdog);
    abort.abort();
  }
}

/** One answer of the API, with the token that the stream was let in with; null when there is none to be had. */
export async function ask(path) {
  try {
    const response = await fetch(path, { headers: headers(undefined, 'application/json'), cache: 'no-store' });
    return response.ok ? await response.json() : null;
  } catch {
    return null;
  }
}

function headers(lastEvent, accept = 'text/event-stream') {
  const all = { Accept: accept };
  if (lastEvent) {
    all['Last-Event-ID'] = lastEvent;
  }
  const token = sessionStorage.getItem(TOKEN);
  if (token) {
    all.Authorization = `Bearer ${token}`;
  }
  return all;
}

async function problem(response) {
  try {
    return (await response.json()).detail ?? `HTTP ${response.status}`;
  } catch {
    return `HTTP ${response.status}`;
  }
}
