// The map: a box for each node, a tile for each device, filled as far as the device is. One tile is a tab stop, the
// arrow keys move between tiles.

import { element, follow, setAttribute, setText } from './dom.js';
import { ago, gib, percent } from './format.js';
import { MARKS } from './model.js';

const DENSE = 200;
// So many characters of a node's name are seen in a dense map.
const ROOM = 8;
const LETTERS = new Map(MARKS.map((mark) => [mark.name, mark.letter]));

export function renderLegend(root) {
  root.replaceChildren(
    ...MARKS.map((mark) =>
      element(
        'li',
        { title: mark.text },
        element('span', { class: 'tile sample', 'data-mark': mark.name, 'aria-hidden': 'true' }, element('b', {}, mark.letter)),
        mark.name === 'fine' ? 'room left' : mark.name,
      ),
    ),
  );
}

export class DeviceMap {
  constructor(root, onSelect) {
    this.root = root;
    this.current = null;
    root.addEventListener('click', (event) => {
      const tile = event.target.closest('.tile');
      if (tile) {
        onSelect(tile.dataset.uuid);
      }
    });
    root.addEventListener('keydown', (event) => this.onKey(event));
    root.addEventListener('focusin', (event) => this.makeCurrent(event.target.closest('.tile')));
  }

  render(model, selected, only) {
    const isDense = model.devices.size > DENSE;
    setAttribute(this.root, 'data-dense', isDense ? 'true' : 'false');
    const byNode = [...model.byNode()];
    const labels = isDense ? shortNames(byNode.map(([name]) => name)) : byNode.map(([name]) => name);
    const nodes = byNode.map(([name, devices], at) => ({ name, label: labels[at], devices, age: model.nodes.get(name)?.ageMillis, drain: model.drains.get(name) }));
    const render = (node, item) => this.renderNode(node, item, selected, only);
    follow(this.root, nodes, (node) => node.name, makeNode, render);
    if (!this.current?.isConnected) {
      this.makeCurrent(this.root.querySelector('.tile'));
    }
  }

  renderNode(node, { name, label, devices, age, drain }, selected, only) {
    const [title, tiles] = node.children;
    setText(title, drain ? `${label}, draining` : label);
    setAttribute(title, 'title', `${name}: heard ${ago(age)}${drain ? `; ${drainText(drain)}` : ''}`);
    setAttribute(node, 'data-draining', drain ? '' : null);
    follow(tiles, devices, (device) => device.uuid, makeTile, (tile, device) => {
      if (tile.ullageDevice !== device) {
        tile.ullageDevice = device;
        renderTile(tile, device);
      }
      setAttribute(tile, 'aria-pressed', device.uuid === selected ? 'true' : 'false');
      setAttribute(tile, 'data-dim', only && !only.has(device.uuid) ? '' : null);
    });
  }

  makeCurrent(tile) {
    if (!tile) {
      return;
    }
    this.current?.setAttribute('tabindex', '-1');
    tile.setAttribute('tabindex', '0');
    this.current = tile;
  }

  onKey(event) {
    const tiles = [...this.root.querySelectorAll('.tile')];
    const at = tiles.indexOf(event.target);
    const to = at < 0 ? undefined : target(event.key, tiles, at);
    if (to) {
      event.preventDefault();
      to.focus();
    }
  }
}

/**
 * Names of nodes where there is little room: without the domain and the beginning that all of them have. A number stays
 * whole, and names that are short stay as they are.
 */
export function shortNames(names) {
  if (names.length < 2 || names.every((name) => name.length <= ROOM)) {
    return names;
  }
  const common = (list) => {
    let length = 0;
    while (list.every((name) => length < name.length && name[length] === list[0][length])) {
      length += 1;
    }
    return list[0].slice(0, length);
  };
  const reversed = names.map((name) => [...name].reverse().join(''));
  // A suffix is what follows a dot; a beginning ends where no number is cut.
  const ending = common(reversed).match(/^.*\./)?.[0].length ?? 0;
  const beginning = common(names).replace(/\d+$/, '').length;
  return names.map((name) => {
    const rest = name.slice(beginning, name.length - ending);
    return rest === '' || beginning + ending === 0 ? name : `${beginning > 0 ? '\u2026' : ''}${rest}`;
  });
}

function drainText(drain) {
  return `draining${drain.by ? `, by ${drain.by}` : ''}${drain.reason ? `: ${drain.reason}` : ''}`;
}

function target(key, tiles, at) {
  switch (key) {
    case 'ArrowRight':
      return tiles[at + 1];
    case 'ArrowLeft':
      return tiles[at - 1];
    case 'Home':
      return tiles[0];
    case 'End':
      return tiles.at(-1);
    case 'ArrowDown':
      return nearest(tiles, tiles[at], (box, own) => box.top > own.top + 1);
    case 'ArrowUp':
      return nearest(tiles, tiles[at], (box, own) => box.top < own.top - 1);
    default:
      return undefined;
  }
}

/** The tile of the next row that is closest to straight below or above. */
function nearest(tiles, tile, isThere) {
  const own = tile.getBoundingClientRect();
  let best;
  let shortest = Infinity;
  for (const other of tiles) {
    const box = other.getBoundingClientRect();
    const distance = Math.abs(box.top - own.top) * 1000 + Math.abs(box.left - own.left);
    if (isThere(box, own) && distance < shortest) {
      best = other;
      shortest = distance;
    }
  }
  return best;
}

function makeNode() {
  return element('section', { class: 'node' }, element('h3'), element('div', { class: 'tiles' }));
}

function makeTile(device) {
  return element('button', { class: 'tile', type: 'button', tabindex: '-1', 'data-uuid': device.uuid }, element('i'), element('b'));
}

function renderTile(tile, device) {
  const [fill, letter] = tile.children;
  setAttribute(tile, 'data-mark', device.mark);
  setText(letter, LETTERS.get(device.mark) || String(device.index));
  const height = device.allocatableBytes > 0 ? Math.min(1, (device.usedBytes ?? 0) / device.allocatableBytes) : 0;
  fill.style.setProperty('--fill', `${Math.round(height * 100)}%`);
  const label =
    `GPU ${device.index} of ${device.node}: ${device.mark === 'fine' ? 'room left' : device.mark}, ` +
    `${gib(device.usedBytes)} used (${percent(device.usedBytes, device.allocatableBytes)}), ` +
    `${gib(device.ceilingBytes)} promised of ${gib(device.budgetBytes)}`;
  setAttribute(tile, 'aria-label', label);
  setAttribute(tile, 'title', label);
}
