/* Light or dark as it was chosen last, before anything is drawn. */
try {
        document.documentElement.dataset.theme = localStorage.getItem('theme') || 'auto';
} catch {
        document.documentElement.dataset.theme = 'auto'; // no storage: as the system says
}
