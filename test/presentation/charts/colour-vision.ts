import { chartStyles } from '../../../src/presentation/charts/inks.ts';

export type Rgb = [number, number, number];
export type Scheme = 'light' | 'dark';

/** The colours of charts by name, as the style sheet gives them. */
export function chartColours(scheme: Scheme): Map<string, Rgb> {
  const found = chartStyles.matchAll(/--chart-([\w-]+): light-dark\(#(\w{6}), #(\w{6})\)/g);
  return new Map([...found].map(([, name = '', light = '', dark = '']) => [name, parse(scheme === 'light' ? light : dark)]));
}

function parse(hex: string): Rgb {
  return [0, 2, 4].map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255) as Rgb;
}

/** Colours as seen without one kind of cone (Machado, Oliveira and Fernandes 2009, complete deficiency; linear RGB). */
export const visions: Readonly<Record<string, readonly Rgb[]>> = {
  usual: [[1, 0, 0], [0, 1, 0], [0, 0, 1]], // prettier-ignore
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]], // prettier-ignore
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]], // prettier-ignore
  tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]], // prettier-ignore
  none: [[0.2126, 0.7152, 0.0722], [0.2126, 0.7152, 0.0722], [0.2126, 0.7152, 0.0722]], // prettier-ignore
};

/** The distance of two colours in CIELAB (1976) as they are seen; about 2 is the least that can be seen. */
export function distance(a: Rgb, b: Rgb, vision: readonly Rgb[]): number {
  const [x, y] = [lab(seen(a, vision)), lab(seen(b, vision))];
  return Math.hypot(...x.map((value, index) => value - (y[index] ?? 0)));
}

/** Contrast as WCAG 2 defines it. */
export function contrast(a: Rgb, b: Rgb): number {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

function luminance(colour: Rgb): number {
  const [r, g, b] = linear(colour);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function linear(colour: Rgb): Rgb {
  return colour.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)) as Rgb;
}

function seen(colour: Rgb, vision: readonly Rgb[]): Rgb {
  const [r, g, b] = linear(colour);
  return vision.map((row) => Math.min(1, Math.max(0, row[0] * r + row[1] * g + row[2] * b))) as Rgb;
}

function lab([r, g, b]: Rgb): Rgb {
  const root = (value: number): number => (value > 0.008856 ? Math.cbrt(value) : 7.787 * value + 16 / 116);
  const x = root((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047);
  const y = root(0.2126 * r + 0.7152 * g + 0.0722 * b);
  const z = root((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}
