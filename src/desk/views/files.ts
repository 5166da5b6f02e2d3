import type { DeskFile } from '../core/file.ts';

/** What the page hands out as files. */
export const files: readonly DeskFile[] = [];
