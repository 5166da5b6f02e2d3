import type { DeskFile } from '../core/file.ts';

const formats = ['csv', 'jsonl', 'xlsx'] as const;

/** What the page hands out as files. */
export const files: readonly DeskFile[] = [
  ...formats.map((format) => fileOf(`results.${format}`)),
  // To be opened from where it is saved: its own styles stand in it, which a page of this server may not have.
  fileOf('report.html'),
  fileOf('rows/:row/calls/:call/recording'),
];

function fileOf(name: string): DeskFile {
  return {
    path: `/campaigns/:campaign/${name}`,
    url: ({ campaign = '', ...more }, query) => {
      const filled = name.replace(/:(\w+)/g, (_, part: string) => encodeURIComponent(more[part] ?? ''));
      return `/api/v1/campaigns/${encodeURIComponent(campaign)}/${filled}${query}`;
    },
  };
}
