// The first line of figures: the whole cluster at a glance.

import { element, follow, setAttribute, setText } from './dom.js';
import { count, exact, gib, percent } from './format.js';

export function renderOverview(root, model) {
  const totals = model.totals();
  const memory = (key, name, bytes, note) => ({ key, name, value: gib(bytes), title: exact(bytes), note });
  const trouble = (key, name, number) => ({
    key,
    name,
    value: String(number),
    note: number === 1 ? 'device' : 'devices',
    state: number > 0 ? 'bad' : 'good',
  });
  const cards = [
    memory('capacity', 'Capacity', totals.capacity, `${count(totals.devices, 'device')}, ${count(totals.nodes, 'node')}`),
    memory('promised', 'Promised', totals.promised, `${percent(totals.promised, totals.capacity)}, ${count(totals.ranks, 'rank')}`),
    memory('used', 'Used', totals.used, percent(totals.used, totals.capacity)),
    memory('reserve', 'Reserve kept', totals.reserve, percent(totals.reserve, totals.capacity)),
    trouble('over', 'Over budget', totals.over),
    trouble('stalled', 'Stalled', totals.stalled),
    trouble('lost', 'Lost', totals.lost),
    trouble('stale', 'Stale', totals.stale),
  ];
  follow(root, cards, (card) => card.key, make, update);
}

function make(card) {
  return element(
    'div',
    { class: 'card', 'data-key': card.key },
    element('dt', {}, card.name),
    element('dd', { class: 'value' }),
    element('dd', { class: 'note' }),
  );
}

function update(node, card) {
  const [, value, note] = node.children;
  setText(value, card.value);
  setAttribute(value, 'title', card.title);
  setText(note, card.note);
  setAttribute(node, 'data-state', card.state);
}
