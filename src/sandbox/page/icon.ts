/** Three bells' strokes. */
export const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0f5c63"/><path d="M9 20v-6M16 24V8M23 20v-6" stroke="#fff" stroke-width="3.4" stroke-linecap="round"/></svg>`;
