/** Served beside these scripts, as its package has it. */
declare const Idiomorph: {
  morph(
    old: Element,
    fresh: string,
    options: {
      callbacks?: { beforeAttributeUpdated?: (name: string, element: Element) => boolean; beforeNodeMorphed?: (old: Node) => boolean };
    },
  ): void;
};
