// A table of rows that a phone shows as blocks.

import { element } from './dom.js';

/**
 * Around heads and a body of rows. Roles in words: rows that are shown as blocks are a table by their roles only, and
 * one that is none by its style would lose them.
 */
export function rowsTable(label, heads, rows) {
  return element(
    'div',
    { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': label },
    element(
      'table',
      { class: 'rows', role: 'table' },
      element('thead', { role: 'rowgroup' }, element('tr', { role: 'row' }, ...heads)),
      rows,
    ),
  );
}
