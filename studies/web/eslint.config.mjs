import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["node_modules/", "dist/", "build/", "**/*.mjs"] },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      "@typescript-eslint/no-non-null-assertion": "off",
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      eqeqeq: "error",
      // Names, labels and notes are a stranger's text: they enter the page as text nodes only.
      "no-restricted-properties": [
        "error",
        { property: "innerHTML", message: "use h() or svg() of dom.ts" },
        { property: "outerHTML", message: "use h() or svg() of dom.ts" },
        { property: "insertAdjacentHTML", message: "use h() or svg() of dom.ts" },
      ],
    },
  },
  {
    files: ["src/**/*.test.ts"],
    rules: { "@typescript-eslint/no-floating-promises": "off" }, // node:test's own calls
  },
);
