import type { DeskFile } from '../core/file.ts';

const formats = ['csv', 'jsonl', 'xlsx'] as const;

/** What the page hands out as files. */
export const files: readonly DeskFile[] = formats.map((format) => ({
  path: `/campaigns/:campaign/results.${format}`,
  url: ({ campaign = '' }, query) => `/api/v1/campaigns/${encodeURIComponent(campaign)}/results.${format}${query}`,
}));
