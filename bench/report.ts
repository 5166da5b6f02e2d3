/** One line of the table. `target`: at most or at least this; a line without one is there to be read only. */
export interface Figure {
  name: string;
  value: number;
  unit: string;
  target?: { atMost?: number; atLeast?: number; below?: number };
  note?: string;
}

/** Null for a figure that has no target. */
export function isMet({ value, target }: Figure): boolean | null {
  if (target === undefined) return null;
  const { atMost = Infinity, atLeast = -Infinity, below = Infinity } = target;
  return value <= atMost && value >= atLeast && value < below;
}

function show(value: number): string {
  return Number.isInteger(value) ? value.toLocaleString('en-US') : value.toFixed(value < 10 ? 2 : 1);
}

function showTarget({ target }: Figure): string {
  if (target?.atMost !== undefined) return `<= ${show(target.atMost)}`;
  if (target?.atLeast !== undefined) return `>= ${show(target.atLeast)}`;
  return target?.below === undefined ? '' : `< ${show(target.below)}`;
}

/** The table, settings first. */
export function renderReport(settings: readonly [string, string][], figures: readonly Figure[]): string {
  const verdict = (figure: Figure) => ({ true: 'met', false: 'MISSED', null: '' })[String(isMet(figure))] ?? '';
  const rows = [
    ...settings.map(([name, value]) => ['setting', name, value, '', '', '']),
    ['', 'figure', 'value', 'target', '', ''],
    ...figures.map((figure) => [
      'figure',
      figure.name,
      `${show(figure.value)}${figure.unit === '' ? '' : ` ${figure.unit}`}`,
      showTarget(figure),
      verdict(figure),
      figure.note ?? '',
    ]),
  ].map((cells) => cells.slice(1));
  const isSetting = (index: number) => index < settings.length;
  const nameWidth = Math.max(...rows.map(([name = '']) => name.length));
  const widths = [2, 3].map((column) =>
    Math.max(...rows.filter((_, index) => !isSetting(index)).map((cells) => (cells[column - 1] ?? '').length)),
  );
  const lines = rows.map(([name = '', value = '', target = '', met = '', note = ''], index) => {
    const head = name.padEnd(nameWidth);
    if (isSetting(index)) return `${head}  ${value}`;
    return `${head}  ${value.padStart(widths[0] ?? 0)}  ${target.padEnd(widths[1] ?? 0)}  ${met.padEnd(6)}  ${note}`.trimEnd();
  });
  const rule = '-'.repeat(Math.min(100, Math.max(...lines.map((line) => line.length))));
  lines.splice(settings.length, 0, rule);
  return `${lines.join('\n')}\n`;
}
