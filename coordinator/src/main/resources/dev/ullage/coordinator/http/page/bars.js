// The peaks of a job's ranks in one phase as bars: each against what it may hold, with the median across.

import { element, setAttribute, setText } from './dom.js';
import { count, gib, isKnown } from './format.js';

const SVG = 'http://www.w3.org/2000/svg';
const LINES = ['unknown', 'peaks', 'largest', 'above', 'limits', 'median'];
// More ranks than this share columns: each shows the fullest of its ranks.
const MOST_COLUMNS = 96;
// Up to so many columns there is room between them.
const APART = 48;
// Above what is largest, so that a line there is seen whole.
const HEADROOM = 1.06;

export function makeBars() {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('preserveAspectRatio', 'none');
  svg.setAttribute('role', 'img');
  for (const line of LINES) {
    const path = document.createElementNS(SVG, 'path');
    path.setAttribute('class', line);
    svg.append(path);
  }
  const node = element('figure', { class: 'bars' }, svg, element('figcaption'));
  svg.addEventListener('pointermove', (event) => setAttribute(svg.parentNode, 'title', textAt(node.ullageColumns, event)));
  return node;
}

/** phase: { name, ranks: [{ rank, peak, limit, place }], scale, skew, why }, in the order of the ranks. */
export function updateBars(node, phase) {
  const [svg, caption] = node.children;
  const columns = columnsOf(phase.ranks);
  node.ullageColumns = columns;
  const height = (bytes) => (100 - (bytes * 100) / (phase.scale * HEADROOM || 1)).toFixed(1);
  const gap = columns.length <= APART ? 0.12 : 0;
  const bar = (column) => `M${column.at + gap} 100V${height(column.peak)}h${1 - 2 * gap}V100z`;
  const known = columns.filter((column) => isKnown(column.peak));
  const isAbove = (column) => isKnown(column.limit) && column.peak > column.limit;
  const isLargest = (column) => phase.skew && column.ranks.some((rank) => rank.rank === phase.skew.rank);
  const of = (list, draw) => list.map(draw).join('');
  const drawn = {
    unknown: of(columns.filter((column) => !isKnown(column.peak)), ({ at }) => `M${at + gap} 100V0h${1 - 2 * gap}V100z`),
    peaks: of(known.filter((column) => !isAbove(column) && !isLargest(column)), bar),
    largest: of(known.filter((column) => !isAbove(column) && isLargest(column)), bar),
    above: of(known.filter(isAbove), bar),
    limits: of(columns.filter((column) => isKnown(column.limit)), (column) => `M${column.at} ${height(column.limit)}h1`),
    median: phase.skew ? `M0 ${height(phase.skew.medianBytes)}H${columns.length}` : '',
  };
  setAttribute(svg, 'viewBox', `0 0 ${columns.length} 100`);
  [...svg.children].forEach((path) => setAttribute(path, 'd', drawn[path.getAttribute('class')]));
  setAttribute(svg, 'aria-label', labelOf(phase));
  const name = phase.name.toLowerCase();
  setText(caption, phase.skew ? `${name} ${phase.skew.percent} %` : `${name}: unknown`);
  setAttribute(caption, 'title', phase.skew ? largestText(phase) : `skew unknown: ${phase.why}`);
}

function columnsOf(ranks) {
  const together = Math.ceil(ranks.length / MOST_COLUMNS) || 1;
  const columns = [];
  for (let first = 0; first < ranks.length; first += together) {
    const own = ranks.slice(first, first + together);
    const known = (field) => own.map((rank) => rank[field]).filter(isKnown);
    const peaks = known('peak');
    const limits = known('limit');
    columns.push({
      at: columns.length,
      ranks: own,
      peak: peaks.length > 0 ? Math.max(...peaks) : null,
      limit: limits.length > 0 ? Math.min(...limits) : null,
    });
  }
  return columns;
}

function textAt(columns, event) {
  const box = event.currentTarget.getBoundingClientRect();
  const at = Math.floor(((event.clientX - box.left) / box.width) * columns.length);
  const column = columns[Math.max(0, Math.min(columns.length - 1, at))];
  if (!column) {
    return null;
  }
  const [first] = column.ranks;
  const who =
    column.ranks.length === 1 ? `rank ${first.rank} on ${first.place}` : `ranks ${first.rank} to ${column.ranks.at(-1).rank}`;
  return `${who}: ${isKnown(column.peak) ? `${gib(column.peak)} at most` : 'peak unknown'}, may hold ${gib(column.limit)}`;
}

function largestText({ skew }) {
  return `rank ${skew.rank} held up to ${gib(skew.peakBytes)}, ${skew.percent} % of the median of ${gib(skew.medianBytes)}`;
}

function labelOf(phase) {
  const peaks = phase.ranks.map((rank) => rank.peak).filter(isKnown);
  const limits = phase.ranks.map((rank) => rank.limit).filter(isKnown);
  const span = (list) => {
    const [least, most] = [gib(Math.min(...list)), gib(Math.max(...list))];
    return least === most ? least : `${least} to ${most}`;
  };
  return (
    `${phase.name.toLowerCase()}: peaks of ${peaks.length} of ${count(phase.ranks.length, 'rank')}, ${peaks.length > 0 ? span(peaks) : 'none known'}; ` +
    `they may hold ${limits.length > 0 ? span(limits) : 'unknown'}; ` +
    (phase.skew ? largestText(phase) : `skew unknown: ${phase.why}`)
  );
}
