// Puts the page together: the stream in, the model, one drawing for each frame that needs one.

import { setAttribute, setText } from './dom.js';
import { DevicePanel } from './device.js';
import { EvennessPanel } from './evenness.js';
import { EventList } from './events.js';
import { ago, duration } from './format.js';
import { History } from './history.js';
import { HostsPanel } from './hosts.js';
import { JobPanel } from './job.js';
import { renderJobs } from './jobs.js';
import { DeviceMap, renderLegend } from './map.js';
import { Model } from './model.js';
import { renderOverview } from './overview.js';
import { QueuePanel } from './queue.js';
import { ask, read } from './stream.js';

const OLD = 3000;
const MEASURED = 'ullage-frame';

const byId = (id) => document.getElementById(id);
const model = new Model();
const history = new History();
const link = { state: 'connecting', text: '', unanswered: false };
const map = new DeviceMap(byId('map'), (uuid) => select('device', uuid));
const events = new EventList(byId('events'), byId('events-note'), (uuid) => select('device', uuid), (job) => select('job', job));
const queue = new QueuePanel(byId('queue-body'), byId('queue-note'), (job) => select('job', job));
const hosts = new HostsPanel(byId('hosts'), byId('hosts-body'), byId('hosts-note'));
const evenness = new EvennessPanel(
  byId('evenness-body'),
  byId('evenness-note'),
  byId('evenness-legend'),
  (job) => select('job', job),
  (uuid) => select('device', uuid),
);
let panel = null;
let isDue = false;
let hasGap = false;
// Where the focus was when a panel was opened: it goes back there.
let opener = null;

/** What is shown in detail is in the address: it can be sent to somebody, and "back" works. */
function select(kind, name) {
  const active = document.activeElement;
  if (kind && !byId('detail').contains(active)) {
    opener = active;
  }
  location.hash = kind ? `${kind}=${encodeURIComponent(name)}` : '';
}

function selection() {
  const [kind, name] = location.hash.slice(1).split('=');
  try {
    return name ? { kind, name: decodeURIComponent(name) } : {};
  } catch {
    return {};
  }
}

function close() {
  const origin = opener?.isConnected && opener !== document.body ? opener : document.querySelector('#map .tile[aria-pressed="true"]');
  select();
  (origin ?? byId('map')).focus();
}

function openPanel() {
  const { kind, name } = selection();
  const root = byId('detail');
  panel?.close();
  panel = null;
  root.hidden = true;
  if (kind === 'device') {
    panel = new DevicePanel(root, name, close, (job) => select('job', job));
    fill(name);
  } else if (kind === 'job') {
    panel = new JobPanel(root, name, close, (uuid) => select('device', uuid), events);
  }
  if (panel) {
    root.hidden = false;
    draw();
    root.focus({ preventScroll: true });
    root.scrollIntoView({ block: 'nearest' });
  } else {
    due();
  }
}

/** What the coordinator kept of a device from before the page was opened. */
async function fill(uuid) {
  const rows = [];
  for (;;) {
    const page = await ask(`/api/v1/history?limit=1000&offset=${rows.length}&device=${encodeURIComponent(uuid)}`);
    rows.push(...(page?.items ?? []));
    if (!page || page.items.length === 0 || rows.length >= page.total) {
      break;
    }
  }
  if (rows.length > 0) {
    history.fill(uuid, rows, Date.now() / 1000);
    due();
  }
}

function due() {
  if (!isDue) {
    isDue = true;
    requestAnimationFrame(draw);
  }
}

function draw() {
  isDue = false;
  const start = performance.now();
  const now = Date.now();
  drawLink(now);
  if (!model.isEmpty) {
    const { kind, name } = selection();
    const job = kind === 'job' ? model.jobs.find((one) => one.job === name) : undefined;
    const only = job ? new Set(job.ranks.map((rank) => rank.device)) : undefined;
    renderOverview(byId('glance'), model);
    map.render(model, kind === 'device' ? name : undefined, only);
    queue.render(model, now);
    evenness.render(model);
    hosts.render(model);
    renderJobs(byId('jobs'), byId('jobs-rest'), model, (one) => select('job', one));
    panel?.render(model, history, now);
    events.render(model.serverNow(now));
  }
  performance.measure(MEASURED, { start, end: performance.now() });
  if (performance.getEntriesByName(MEASURED).length > 1000) {
    performance.clearMeasures(MEASURED);
  }
}

function drawLink(now) {
  const age = model.age(now);
  const isOld = age === null || age > OLD;
  const isBroken = link.state !== 'live' || link.unanswered || isOld;
  const isWaiting = link.state === 'connecting' || link.state === 'locked';
  const state = isWaiting ? link.state : isBroken ? 'stale' : 'live';
  setAttribute(byId('link'), 'data-state', state);
  setText(byId('link'), state === 'stale' ? `stale, ${age === null ? 'nothing seen yet' : `seen ${ago(age)}`}` : state);
  setAttribute(document.body, 'data-stale', isOld && age !== null ? '' : null);
  const notice = byId('notice');
  notice.hidden = !(state === 'stale' && isOld) && model.errors.length === 0;
  setText(notice, state === 'stale' && isOld ? staleText(age) : model.errors.join('; '));
  const coordinator = model.coordinator;
  setText(
    byId('coordinator'),
    coordinator ? `coordinator ${coordinator.node}, ${coordinator.state.toLowerCase()}, epoch ${coordinator.epoch ?? 'unknown'}` : '',
  );
}

/** Asks for the read token; what is typed is handed on and not kept in the page. */
function askForToken(why) {
  const form = byId('token-form');
  const input = byId('token');
  setText(byId('token-why'), why);
  form.hidden = false;
  input.focus();
  return new Promise((resolve) => {
    form.onsubmit = (event) => {
      event.preventDefault();
      // A header takes no other characters, and a token has none.
      const token = input.value.replace(/[^\x21-\x7e]/g, '');
      input.value = '';
      form.hidden = true;
      resolve(token);
    };
  });
}

function staleText(age) {
  const why = link.state === 'live' ? 'no coordinator answers this node; one may be about to take over' : link.text;
  return age === null
    ? `Nothing to show yet: ${why}. Trying again.`
    : `What you see is ${duration(age)} old: ${why}. Limits in force stay as they are. Trying again.`;
}

function onSnapshot(snapshot) {
  link.unanswered = Boolean(snapshot.unanswered);
  if (!snapshot.unanswered) {
    const now = Date.now();
    if (hasGap) {
      history.gap(now / 1000 - 0.001);
      hasGap = false;
    }
    model.take(snapshot, now);
    history.add(model, now / 1000);
  } else {
    hasGap = true;
  }
  due();
}

renderLegend(byId('legend'));
byId('warnings-only').addEventListener('change', (event) => {
  events.warningsOnly = event.target.checked;
  due();
});
byId('topic').addEventListener('change', (event) => {
  events.topic = event.target.value;
  due();
});
addEventListener('hashchange', openPanel);
addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && panel) {
    close();
  }
});
setInterval(due, 1000);
openPanel();
read({
  snapshot: onSnapshot,
  events: (message) => {
    events.take(message);
    due();
  },
  token: askForToken,
  state: (state, text) => {
    hasGap = hasGap || state !== 'live';
    Object.assign(link, { state, text });
    due();
  },
});
