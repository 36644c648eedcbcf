// What happened, newest first.

import { element, follow, setAttribute, setText } from './dom.js';
import { ago, count } from './format.js';

const KEPT = 1000;
const SHOWN = 200;
const OF_ONE_JOB = 8;

// What an operator may want to see alone; a kind that is in none of them is shown among all.
export const TOPICS = new Map([
  ['queue', ['job-submitted', 'job-placed', 'placement-failed', 'room-asked', 'job-requeued', 'job-withdrawn']],
  ['evenness', ['uneven', 'even', 'batch-shares-ordered', 'batch-shares-suggested', 'move-suggested']],
  ['devices', ['node-joined', 'node-forgotten', 'device-found', 'device-gone', 'device-stale', 'device-lost', 'device-recovered']],
  ['ranks', ['rank-joined', 'rank-left', 'above-ceiling', 'within-ceiling', 'leak-suspected', 'out-of-memory']],
]);

export class EventList {
  constructor(root, note, onDevice, onJob) {
    this.root = root;
    this.note = note;
    this.onDevice = onDevice;
    this.onJob = onJob;
    this.events = [];
    this.warningsOnly = false;
    this.topic = '';
    this.none = element('p', { class: 'muted' });
    root.after(this.none);
  }

  /** Takes a message of the stream in. An incomplete one says that others before it are not known. */
  take(message) {
    if (!message.complete) {
      this.events = [];
      setText(this.note, 'Earlier events are not known: the coordinator was replaced, or they were too many.');
      this.note.hidden = false;
    }
    const known = new Set(this.events.map((event) => event.id));
    this.events.push(...message.events.filter((event) => !known.has(event.id)));
    this.events = this.events.slice(-KEPT);
  }

  render(serverNow) {
    const kinds = TOPICS.get(this.topic);
    const isWanted = (event) =>
      (!this.warningsOnly || event.severity !== 'info') && (!kinds || kinds.includes(event.kind));
    const shown = this.list(this.root, this.events.filter(isWanted), SHOWN, serverNow);
    this.none.hidden = shown > 0;
    setText(this.none, this.events.length === 0 ? 'No event is known.' : `None among the last ${count(this.events.length, 'event')}.`);
  }

  /** The last events of one job, in a list of their own; returns how many. */
  renderOf(root, job, serverNow) {
    return this.list(root, this.events.filter((event) => event.job === job), OF_ONE_JOB, serverNow);
  }

  list(root, events, most, serverNow) {
    const shown = events.slice(-most).reverse();
    follow(root, shown, (event) => event.id, (event) => this.make(event), (node, event) => {
      setText(node.firstElementChild, ago(Math.max(0, serverNow - Date.parse(event.time))));
    });
    return shown.length;
  }

  make(event) {
    const node = element(
      'li',
      { 'data-severity': event.severity },
      element('time', { datetime: event.time, title: `${event.time}, event ${event.id}` }),
      element('span', { class: 'kind' }, event.kind),
      element('span', { class: 'text' }, event.text),
    );
    setAttribute(node, 'data-kind', event.kind);
    const links = element('span', { class: 'links' });
    if (event.device) {
      links.append(element('button', { type: 'button', class: 'plain', onclick: () => this.onDevice(event.device) }, 'device'));
    }
    if (event.job) {
      links.append(element('button', { type: 'button', class: 'plain', onclick: () => this.onJob(event.job) }, 'job'));
    }
    node.append(links);
    return node;
  }
}
