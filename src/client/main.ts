/** The script of the pages. Every page is complete without it; the script only saves steps. */
document.documentElement.classList.add('script')
