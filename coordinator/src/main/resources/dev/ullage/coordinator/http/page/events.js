// What happened, newest first.

import { element, follow, setAttribute, setText } from './dom.js';
import { ago } from './format.js';

const KEPT = 500;
const SHOWN = 200;

export class EventList {
  constructor(root, note, onDevice, onJob) {
    this.root = root;
    this.note = note;
    this.onDevice = onDevice;
    this.onJob = onJob;
    this.events = [];
    this.warningsOnly = false;
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
    const shown = this.events.filter((event) => !this.warningsOnly || event.severity !== 'info').slice(-SHOWN);
    shown.reverse();
    follow(this.root, shown, (event) => event.id, (event) => this.make(event), (node, event) => {
      setText(node.firstElementChild, ago(Math.max(0, serverNow - Date.parse(event.time))));
    });
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
